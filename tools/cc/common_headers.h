// Headers that most files include, directly or through `hlo/ir`: those of outside libraries, and the code that
// protoc makes from the wire format. They are compiled once, by //tools/cc:common_headers. A header belongs here
// if it is slow to compile and about a quarter of the files reach it. The project's own headers do not belong
// here, since a change in one would recompile everything.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/proto/hlo.pb.h"
