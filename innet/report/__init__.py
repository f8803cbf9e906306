"""Tables, plots and the files of a run."""
