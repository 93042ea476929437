#!/bin/sh
# Turns a title into the last part of a web address: "Hello World" to hello-world.
printf '%s\n' "$1" | LC_ALL=C tr 'A-Z' 'a-z'
