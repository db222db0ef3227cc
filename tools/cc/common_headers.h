// What most files of the project include, directly or through `hlo/ir`: outside libraries, and the code that
// protoc makes of the wire format. Compiled once, by //tools/cc:common_headers. A header belongs here if it
// is costly and some quarter of the files reach it; headers of the project's own do not, since a change of
// one would compile all anew.
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
