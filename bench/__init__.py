"""Speed and memory, side by side with the rivals, on loopback."""
