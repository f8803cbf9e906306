"""That there is a conftest here lets all tests below import `star`."""
