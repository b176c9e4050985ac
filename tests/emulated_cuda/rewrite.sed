# A .cu file, or a header with launches, as C++ (device_code.h, launch.h); read as one line.
#
# Kernel<T><<<grid, block, shared, stream>>>(...): lines stay where they are.
s/([A-Za-z_][A-Za-z_0-9:]*(<[^<>;(]*>)?)([[:space:]]*)<<<([^;]*[^;>])>>>[[:space:]]*\(/::emulated_cuda::Launch(\1,\3 \4)(/g
# __shared__ T name[n];
s/__shared__ ([^;]*[ ])([A-Za-z_0-9]+)((\[[^];]*\])*);/static \1\2\3; ::emulated_cuda::UseShared(\&\2, sizeof(\2));/g
