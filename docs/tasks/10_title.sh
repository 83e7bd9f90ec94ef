#!/bin/bash
# A task in Bash: warns of a page that has no title.
#
# It is called with the target (gid|url|uuid|type|version), a scratch folder and a folder
# that is kept for this target; it starts in the scratch folder. curl finds the way to
# the network in the environment. The answer is the last line of standard output:
#
#     ok {} {} {words} {epoch}              warning {code} {words} {data} {epoch}
#     error {code} {data} {words} {epoch}   not_applicable {} {} {} {}
set -u

if [[ ${1-} == identify ]]; then
    echo '{page_title} {Page has a title}'
    exit
fi

IFS='|' read -r gid url uuid type version <<<"$1"
now=$(date +%s)

case $url in
http://* | https://*) ;;
*)
    echo 'not_applicable {} {} {} {}'
    exit
    ;;
esac

# The URL is one argument, never part of a command line that a shell reads.
status=$(curl --silent --show-error --globoff --location --max-redirs 5 --max-time 20 \
    --max-filesize 10000000 --proto '=http,https' --output page \
    --write-out '%{http_code}' --url "$url")
code=$?
if ((code != 0)); then
    echo "error {fetch_failed} {$code} {curl ended with $code} {$now}"
    exit
fi
if ((status >= 400)); then
    echo "error {http_$status} {$status} {the page answers with $status} {$now}"
    exit
fi

title=$(tr '\n\r\t\0' '    ' <page | LC_ALL=C sed -nE 's/.*<[Tt][Ii][Tt][Ll][Ee][^>]*> *([^<]*[^< ]) *<.*/\1/p')
title=${title//[\{\}\\]/} # they would end the list in which it stands
if [[ -z $title ]]; then
    echo "warning {no_title} {the page has no title} {} {$now}"
else
    echo "ok {} {} {the title is: ${title:0:100}} {$now}"
fi
