#include "hlo/io/shape_text.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace toroid {
namespace {

absl::Status ParseTiles(TextScanner* scanner, xla::LayoutProto* layout) {
  while (scanner->Peek() == '(') {
    xla::TileProto* tile = layout->add_tiles();
    RETURN_IF_ERROR(scanner->List("(", ")", [&]() -> absl::Status {
      if (scanner->Consume("*")) {
        tile->add_dimensions(Shape::kUnboundedSize);
        return absl::OkStatus();
      }
      const size_t begin = scanner->Position();
      ASSIGN_OR_RETURN(const int64_t size, scanner->Integer());
      if (size < 0) return scanner->ErrorAt(begin, "a tile size is negative");
      tile->add_dimensions(size);
      return absl::OkStatus();
    }));
  }
  return absl::OkStatus();
}

absl::Status ParseSplitConfigs(TextScanner* scanner, xla::LayoutProto* layout) {
  while (scanner->Consume("(")) {
    xla::SplitConfigProto* split = layout->add_split_configs();
    ASSIGN_OR_RETURN(const int64_t dimension, scanner->Integer());
    split->set_dimension(dimension);
    RETURN_IF_ERROR(scanner->Expect(":"));
    do {
      ASSIGN_OR_RETURN(const int64_t cut, scanner->Integer());
      split->add_split_indices(cut);
    } while (scanner->Consume(","));
    RETURN_IF_ERROR(scanner->Expect(")"));
  }
  return absl::OkStatus();
}

// (INT) after a one-letter layout attribute.
absl::StatusOr<int64_t> ParenthesizedInteger(TextScanner* scanner) {
  RETURN_IF_ERROR(scanner->Expect("("));
  ASSIGN_OR_RETURN(const int64_t value, scanner->Integer());
  RETURN_IF_ERROR(scanner->Expect(")"));
  return value;
}

absl::Status SkipParentheses(TextScanner* scanner) {
  Nesting nesting(scanner);
  RETURN_IF_ERROR(nesting.status());
  RETURN_IF_ERROR(scanner->Expect("("));
  while (!scanner->Consume(")")) {
    if (scanner->AtEnd()) return scanner->Error("expected ')'");
    if (scanner->Peek() == '(') {
      RETURN_IF_ERROR(SkipParentheses(scanner));
    } else {
      scanner->Reset(scanner->Position() + 1);
    }
  }
  return absl::OkStatus();
}

// Reads the attributes after the colon, up to the closing brace.
absl::Status ParseLayoutAttributes(TextScanner* scanner, xla::LayoutProto* layout) {
  while (scanner->Peek() != '}') {
    if (scanner->Consume("SC")) {
      RETURN_IF_ERROR(ParseSplitConfigs(scanner, layout));
    } else if (scanner->Consume("T")) {
      RETURN_IF_ERROR(ParseTiles(scanner, layout));
    } else if (scanner->Consume("L")) {
      ASSIGN_OR_RETURN(const int64_t value, ParenthesizedInteger(scanner));
      layout->set_tail_padding_alignment_in_elements(value);
    } else if (scanner->Consume("E")) {
      ASSIGN_OR_RETURN(const int64_t value, ParenthesizedInteger(scanner));
      layout->set_element_size_in_bits(value);
    } else if (scanner->Consume("S")) {
      ASSIGN_OR_RETURN(const int64_t value, ParenthesizedInteger(scanner));
      layout->set_memory_space(value);
    } else if (scanner->Consume("M")) {
      ASSIGN_OR_RETURN(const int64_t value, ParenthesizedInteger(scanner));
      layout->set_dynamic_shape_metadata_prefix_bytes(value);
    } else if (scanner->Consume("D") || scanner->Consume("#") || scanner->Consume("*") ||
               scanner->Consume("P")) {
      RETURN_IF_ERROR(SkipParentheses(scanner));
    } else {
      return scanner->Error("expected a layout attribute (T, L, E, S, SC, M)");
    }
  }
  return absl::OkStatus();
}

// A brace opens a layout only if an integer or a colon follows.
bool AtLayout(TextScanner* scanner) {
  const size_t begin = scanner->Position();
  bool layout = false;
  if (scanner->Consume("{")) {
    const char next = scanner->Peek();
    layout = next == ':' || (next >= '0' && next <= '9');
  }
  scanner->Reset(begin);
  return layout;
}

absl::Status ParseArray(TextScanner* scanner, PrimitiveType type, xla::ShapeProto* shape) {
  shape->set_element_type(type);
  std::vector<bool> dynamic;
  RETURN_IF_ERROR(scanner->List("[", "]", [&]() -> absl::Status {
    if (scanner->Consume("?")) {
      dynamic.push_back(true);
      shape->add_dimensions(Shape::kUnboundedSize);
    } else {
      dynamic.push_back(scanner->Consume("<="));
      const size_t begin = scanner->Position();
      ASSIGN_OR_RETURN(const int64_t size, scanner->Integer());
      if (size < 0) return scanner->ErrorAt(begin, "negative dimension size");
      shape->add_dimensions(size);
    }
    return absl::OkStatus();
  }));
  bool any_dynamic = false;
  for (const bool d : dynamic) any_dynamic |= d;
  for (size_t i = 0; any_dynamic && i < dynamic.size(); ++i) shape->add_is_dynamic_dimension(dynamic[i]);
  if (!IsArrayType(type)) return absl::OkStatus();

  xla::LayoutProto* layout = shape->mutable_layout();
  layout->set_tail_padding_alignment_in_elements(1);
  if (AtLayout(scanner)) {
    RETURN_IF_ERROR(scanner->Expect("{"));
    if (scanner->Peek() != ':') {
      do {
        ASSIGN_OR_RETURN(const int64_t d, scanner->Integer());
        layout->add_minor_to_major(d);
      } while (scanner->Consume(","));
    }
    if (scanner->Consume(":")) RETURN_IF_ERROR(ParseLayoutAttributes(scanner, layout));
    RETURN_IF_ERROR(scanner->Expect("}"));
  }
  if (layout->minor_to_major_size() == 0) {
    for (int i = shape->dimensions_size() - 1; i >= 0; --i) layout->add_minor_to_major(i);
  }
  return absl::OkStatus();
}

absl::Status ParseShapeProto(TextScanner* scanner, xla::ShapeProto* shape) {
  Nesting nesting(scanner);
  RETURN_IF_ERROR(nesting.status());
  if (scanner->Peek() == '(') {
    shape->set_element_type(xla::TUPLE);
    return scanner->List("(", ")", [&] { return ParseShapeProto(scanner, shape->add_tuple_shapes()); });
  }
  const size_t begin = scanner->Position();
  ASSIGN_OR_RETURN(const absl::string_view word, scanner->Word("a shape"));
  if (word == "b" && scanner->Consume("(")) {
    shape->set_element_type(xla::BUFFER);
    RETURN_IF_ERROR(ParseShapeProto(scanner, shape->add_tuple_shapes()));
    return scanner->Expect(")");
  }
  const std::optional<PrimitiveType> type = TypeFromName(word);
  if (!type) return scanner->ErrorAt(begin, absl::StrCat("unknown element type ", word));
  return ParseArray(scanner, *type, shape);
}

}  // namespace

bool AtShape(TextScanner* scanner) {
  if (scanner->Peek() == '(') return true;
  const absl::string_view word = scanner->PeekWord();
  if (word.empty()) return false;
  const size_t begin = scanner->Position();
  scanner->Reset(begin + word.size());
  const char next = scanner->Peek();
  scanner->Reset(begin);
  return (next == '[' && TypeFromName(word).has_value()) || (next == '(' && word == "b");
}

absl::StatusOr<Shape> ParseShape(TextScanner* scanner) {
  const size_t begin = scanner->Position();
  xla::ShapeProto proto;
  RETURN_IF_ERROR(ParseShapeProto(scanner, &proto));
  absl::StatusOr<Shape> shape = Shape::FromProto(proto);
  if (!shape.ok()) return scanner->ErrorAt(begin, shape.status().message());
  return shape;
}

absl::StatusOr<Shape> ParseShape(absl::string_view text) {
  return ParseWhole(text, [](TextScanner* scanner) { return ParseShape(scanner); });
}

}  // namespace toroid
