package mirror

// SetWindow sets how many records are held at once; restore sets it back.
func SetWindow(n int) (restore func()) {
	was := window
	window = n
	return func() { window = was }
}
