#!/bin/sh
# Compiles the llama-server of the llama.cpp that the pinned llama-cpp-python carries: stock_server.sh PYTHON FOLDER
# Some 20 minutes on two cores, once; the program is FOLDER/build/bin/llama-server.
set -eu
python=$1 folder=$2
mkdir -p "$folder"
pinned=$(sed -n 's/^llm = \["\(llama-cpp-python==[^"]*\)".*/\1/p' pyproject.toml)
ls "$folder"/llama_cpp_python-*.tar.gz >/dev/null 2>&1 ||
    "$python" -m pip download -q --no-deps --no-binary :all: --no-build-isolation -d "$folder" "$pinned"
[ -d "$folder/src" ] || { mkdir "$folder/src"; tar -xzf "$folder"/llama_cpp_python-*.tar.gz --strip-components=1 -C "$folder/src"; }
cmake -S "$folder/src/vendor/llama.cpp" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS=-O1 \
    -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_APP=OFF -DLLAMA_BUILD_UI=OFF \
    -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_OPENSSL=OFF -DGGML_NATIVE=OFF -DGGML_OPENMP=OFF >"$folder/cmake.log"
nice ninja -C "$folder/build" llama-server
