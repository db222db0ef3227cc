#include "hlo/stablehlo/write/locations.h"

#include "absl/strings/str_cat.h"
#include "hlo/stablehlo/write/dense_text.h"

namespace toroid {
namespace {

// "m.py":3:5, "m.py":3:5 to 3:9
std::string PlaceText(absl::string_view file, int64_t line, int64_t column, int64_t end_line = 0,
                      int64_t end_column = 0) {
  return absl::StrCat(MlirString(file), ":", line, ":", column,
                      end_line > 0 ? absl::StrCat(" to ", end_line, ":", end_column) : "");
}

// The i-th of a list whose numbers begin at 1; null if there is none.
template <typename List>
auto At(const List& list, int64_t i) -> decltype(&list[0]) {
  return i >= 1 && i <= list.size() ? &list[static_cast<int>(i) - 1] : nullptr;
}

}  // namespace

std::string LocationTexts::Of(const Instruction& instruction) {
  const xla::OpMetadata* metadata = instruction.metadata();
  if (metadata == nullptr) return "";
  std::string place;
  if (At(module_.proto().stack_frame_index().stack_frames(), metadata->stack_frame_id()) != nullptr) {
    place = absl::StrCat("#frame", metadata->stack_frame_id());
  } else if (!metadata->source_file().empty()) {
    place = PlaceText(metadata->source_file(), metadata->source_line(), metadata->source_column());
  }
  if (metadata->op_name().empty()) return place.empty() ? "" : absl::StrCat(" loc(", place, ")");
  return absl::StrCat(" loc(", MlirString(metadata->op_name()),
                      place.empty() ? "" : absl::StrCat("(", place, ")"), ")");
}

std::string LocationTexts::aliases() const {
  const xla::StackFrameIndexProto& index = module_.proto().stack_frame_index();
  std::string text;
  for (int i = 0; i < index.stack_frames_size(); ++i) {
    const auto& frame = index.stack_frames(i);
    const auto* place = At(index.file_locations(), frame.file_location_id());
    const auto* file = place == nullptr ? nullptr : At(index.file_names(), place->file_name_id());
    const auto* function = place == nullptr ? nullptr : At(index.function_names(), place->function_name_id());
    const std::string here = file == nullptr ? "unknown"
                                             : PlaceText(*file, place->line(), place->column(),
                                                         place->end_line(), place->end_column());
    const std::string called =
        function == nullptr || function->empty() ? here : absl::StrCat(MlirString(*function), "(", here, ")");
    // A frame that names itself, or one behind it, as its caller would have no end.
    const bool has_parent = frame.parent_frame_id() >= 1 && frame.parent_frame_id() <= i;
    absl::StrAppend(
        &text, "#frame", i + 1, " = loc(",
        has_parent ? absl::StrCat("callsite(", called, " at #frame", frame.parent_frame_id(), ")") : called,
        ")\n");
  }
  return text;
}

}  // namespace toroid
