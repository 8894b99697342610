"""What makes tensors of a definition feel like arrays: operators, methods, `x[…]` and functions of NumPy."""
