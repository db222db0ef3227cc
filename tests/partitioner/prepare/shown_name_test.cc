#include "partitioner/prepare/shown_name.h"

#include "gtest/gtest.h"

namespace toroid {
namespace {

TEST(ShownNameTest, ARangeMeansItsNumbers) {
  const ShownName name("layer/dot.2..5 of params['w']");
  EXPECT_TRUE(name.Means("layer/dot.2"));
  EXPECT_TRUE(name.Means("layer/dot.5"));
  EXPECT_FALSE(name.Means("layer/dot.1"));
  EXPECT_FALSE(name.Means("layer/dot.6"));
  EXPECT_FALSE(name.Means("layer/dot."));
  EXPECT_FALSE(name.Means("dot.3"));
  EXPECT_FALSE(name.Means("layer/dot.3.clone"));
  EXPECT_TRUE(ShownName("params['layers'][0..2]['w']").Means("params['layers'][1]['w']"));
  EXPECT_FALSE(ShownName("params['layers'][0..2]['w']").Means("params['layers'][1]['v']"));
}

TEST(ShownNameTest, StarsAndWhatARowAdds) {
  EXPECT_TRUE(ShownName("sub.* for output{*}").Means("sub.17"));
  EXPECT_TRUE(ShownName("dot.8 of x").Means("dot.8"));
  EXPECT_TRUE(ShownName("output{*}").Means("output{3}"));
  EXPECT_FALSE(ShownName("dot.8 of x").Means("x"));
  for (const char* odd : {"", "..", "a..", "..5", "a.2..", "99999999999999999999..5", " of x"}) {
    EXPECT_FALSE(ShownName(odd).Means("a.3")) << odd;
  }
}

TEST(ShownNameTest, WhatWasCutCanBeAnything) {
  const ShownName name("params['la…[1..2]['w']");
  EXPECT_TRUE(name.Means("params['layers'][1]['w']"));
  EXPECT_FALSE(name.Means("params['layers'][3]['w']"));
  EXPECT_FALSE(name.Means("params['layers'][1]['v']"));
  EXPECT_FALSE(name.IsPlain());
  EXPECT_TRUE(ShownName("params['w']").IsPlain());
  EXPECT_TRUE(ShownName("…/model.py:25").MeansLine("lib/models/model.py:25"));
  EXPECT_FALSE(ShownName("…/model.py:25").MeansLine("lib/models/mymodel.py:25"));
}

TEST(ShownNameTest, ALineMeansWhatItMakes) {
  EXPECT_TRUE(ShownName("model.py:25").MeansLine("model.py:25"));
  EXPECT_TRUE(ShownName("model.py:25").MeansLine("lib/model.py:25"));
  EXPECT_FALSE(ShownName("model.py:25").MeansLine("lib/mymodel.py:25"));
  EXPECT_FALSE(ShownName("model.py:25").MeansLine("model.py:2"));
  EXPECT_FALSE(ShownName("model.py:").MeansLine("model.py:"));
  EXPECT_FALSE(ShownName("model.py").MeansLine("model.py"));
}

}  // namespace
}  // namespace toroid
