// What cuda_runtime.h has for code of the device: softlab_device.h, which comes before every source.
#pragma once
#include <softlab_device.h>
