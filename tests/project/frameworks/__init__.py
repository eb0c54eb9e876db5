"""Every snippet of the page about frameworks, run with the real package and a scripted model."""
