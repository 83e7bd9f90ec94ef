#!/usr/bin/env tclsh
# A task in Tcl: warns of an answer that does not say what it is, or when it was changed.
#
# It is called with the target (gid|url|uuid|type|version), a scratch folder and a folder
# that is kept for this target. The answer is a Tcl list, so `list` writes it: nothing in
# it can break it. curl finds the way to the network in the environment.

if {[lindex $argv 0] eq "identify"} {
    puts [list answer_headers {Answer names its type and its date}]
    exit
}

lassign [split [lindex $argv 0] |] gid url uuid type version

proc answer {status code second third} {
    puts [list $status $code $second $third [clock seconds]]
    exit
}

if {![regexp {^https?://} $url]} {
    answer not_applicable {} {} {}
}

set command [list curl --silent --show-error --globoff --head --max-time 20 --url $url]
if {[catch {exec -ignorestderr -- {*}$command} heads]} {
    answer error fetch_failed {} "curl failed: $::errorCode"
}

set headers [dict create]
foreach line [split $heads \n] {
    if {[regexp {^HTTP/\S+ (\d+)} $line -> status]} {
        set headers [dict create]  ;# a proxy has a head of its own before this one
    } elseif {[regexp {^([^:]+):\s*(.*?)\s*$} $line -> name value]} {
        dict set headers [string tolower $name] $value
    }
}
if {![info exists status]} {
    answer error no_headers {} {the answer has no headers}
}
if {$status >= 400} {
    answer error http_$status $status "the page answers with $status"
}
foreach name {content-type last-modified} {
    if {![dict exists $headers $name]} {
        # For a warning, the words stand before the data.
        answer warning no_[string map {- _} $name] "the answer has no $name" $headers
    }
}
answer ok {} {} "[dict get $headers content-type], of [dict get $headers last-modified]"
