// What most tests include. Compiled once, by //tools/cc:test_headers.
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/cc/common_headers.h"
