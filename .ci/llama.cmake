# llama-cpp-python forces llama.cpp's `common` library on, which its bindings never use: half of the build.
# A plain variable hides that cache entry. Used by `make llama`.
set(LLAMA_BUILD_COMMON OFF)
