package main

import "os"

var signalsByName = map[string]os.Signal{"INT": os.Interrupt, "KILL": os.Kill}
