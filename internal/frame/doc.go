// Package frame gives a command its flags, streams, inputs and exit status.
//
// A command binds the groups of flags that it needs: [Span] says which commits are judged, [Checks] which checks run,
// [Network] where evidence and the clock come from, [Forge] which repository at which forge. [Output] writes its
// report: the command passes a function to [Output.Tell] that checks the flags and judges, and Tell writes what was
// asked for, also without a verdict. What is special about a product remains in its command.
package frame
