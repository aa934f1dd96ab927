"""What a recrawl policy would have achieved in a world whose changes are known (numpy, extra `simulate`)."""
