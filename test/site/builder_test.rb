# frozen_string_literal: true

require_relative "api_fixture"

class SiteBuilderTest < SiteApiTestCase
  needs "builder", "checker"

  DOCUMENTS = FILES.merge(
    "docs/README.md" => "# All documents\n\n## Start here\n\n- [Pelton](../README.md): what it is\n\n## Reference\n\n- [Changes](../CHANGELOG.md)\n",
    "README.md" => "# Pelton\n\n`Pelton.run`, ![a chart](docs/chart.svg), [all](docs/README.md), [source](lib/pelton.rb)\n",
    "CHANGELOG.md" => "# Changelog\n",
    "LICENSE" => "",
    "docs/chart.svg" => "<svg/>",
    "lib/pelton/version.rb" => 'VERSION = "1.2.3"'
  ).freeze

  def test_it_makes_a_whole_site_anew
    repository(DOCUMENTS.merge("out/old.html" => "")) do |root|
      pages = Site::Builder.new(root).build(out = File.join(root, "out"))
      checker = Site::Checker.new(out, root)

      assert_equal %w[documents.html index.html changelog.html api/index.html], pages.map(&:url).first(4)
      assert_equal (pages.map(&:url) + %w[docs/chart.svg search-index.js search.js style.css]).sort,
        Dir["**/*", base: out].select { |path| File.file?(File.join(out, path)) }.sort
      assert_equal [[], []], [checker.dead, checker.unreachable]
      assert_includes File.read(File.join(out, "index.html")), '<a href="api/Pelton.html#run-class_method"><code>Pelton.run</code></a>'
    end
  end
end
