int burinUiPlaceholder = 0;
