"""Hugging Face models exported to ONNX, run by ONNX Runtime in a child process.

The parent (`model.py`, `export.py`) imports neither onnxruntime nor tokenizers; the child (`worker.py`) does.
"""
