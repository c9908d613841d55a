"""A small random Llama that the project builds itself: weights, tokenizer and chat template, with no download."""
