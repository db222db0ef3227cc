// The protocol buffers that hold HLO modules, and how to tell them apart: by a scan of their fields that
// skips over contents.
#ifndef TOROID_HLO_IO_CONTAINER_H_
#define TOROID_HLO_IO_CONTAINER_H_

#include <optional>

#include "absl/strings/string_view.h"

namespace toroid {

enum class Container {
  kModule,               // HloModuleProto
  kProto,                // HloProto
  kSnapshot,             // HloSnapshot
  kUnoptimizedSnapshot,  // HloUnoptimizedSnapshot
  kStreamedSnapshot,     // its length, an HloUnoptimizedSnapshot without arguments, and these as a stream
  kModuleWithConfig,     // HloModuleProtoWithConfig
  kText,                 // HLO text; has no wrapper
};
absl::string_view ContainerName(Container container);

// The container of binary content, the deepest wrapper first; nullopt if it is none (also for text).
std::optional<Container> ContainerOfBytes(absl::string_view bytes);

// The message of a streamed snapshot and what follows it, where its length stands first; nullopt if it does
// not.
struct StreamedSnapshot {
  absl::string_view message, literals;
};
std::optional<StreamedSnapshot> SplitStreamedSnapshot(absl::string_view bytes);

// True if the content looks like text: no control characters but white space near its start.
bool LooksLikeText(absl::string_view bytes);

// True if text is in the protobuf text format of a container rather than HLO text: its first word is a field.
bool LooksLikeProtoText(absl::string_view text);

}  // namespace toroid

#endif  // TOROID_HLO_IO_CONTAINER_H_
