"""What a robots.txt says of some paths, and by which line."""
