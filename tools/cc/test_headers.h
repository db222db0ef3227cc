// Headers that most tests include. They are compiled once, by //tools/cc:test_headers.
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/cc/common_headers.h"
