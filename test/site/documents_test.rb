# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../../docs/site/documents"

class SiteDocumentsTest < PeltonTest
  INDEX = <<~MARKDOWN
    # All documents

    ## Start here

    - [Pelton](../README.md): what it is,
      in two lines
    - without a link

    ## Guides

    ### Runtime

    - [TLS](guides/tls.md)
  MARKDOWN

  TLS = <<~MARKDOWN
    # TLS

    See [the program](../../README.md#try-it), [a file](../../lib/a.rb#L3), [a folder](../../lib/), [below](#keys), [elsewhere](https://example.com/a.md).

    ![chart](../chart.svg) <img src="../chart.svg">

    Or [the program](#{Site::Documents::REPOSITORY}/blob/main/README.md#try-it), [a file](#{Site::Documents::REPOSITORY}/blob/main/lib/a.rb#L3),
    ![chart](#{Site::Documents::REPOSITORY}/blob/main/docs/chart.svg?raw=true).

    ```ruby
    values[:a](../../README.md)
    ```

    `b[0](c.md)` and {{ liquid }}
  MARKDOWN

  def test_a_page_has_its_place_in_the_navigation
    written do |pages|
      assert_equal ["Pelton", "/", nil], front(pages["index.md"]).values_at("title", "permalink", "parent")
      assert_equal ["TLS", "/guides/tls.html", "Runtime", "Guides"],
        front(pages["guides/tls.md"]).values_at("title", "permalink", "parent", "grand_parent")
      assert_equal [["Runtime", "Guides"], ["Start here", nil]],
        %w[groups/guides-runtime.md groups/start-here.md].map { |path| front(pages[path]).values_at("title", "parent") }
    end
  end

  def test_links_lead_to_pages_pictures_and_the_source
    written do |pages|
      source = Site::Documents::REPOSITORY

      assert_includes pages["guides/tls.md"], "[the program](../index.html#try-it), [a " \
        "file](#{source}/blob/main/lib/a.rb#L3), [a folder](#{source}/tree/main/lib), [below](#keys), " \
        "[elsewhere](https://example.com/a.md)."
      assert_includes pages["guides/tls.md"], %(![chart](../docs/chart.svg) <img src="../docs/chart.svg">)
      assert_includes pages["guides/tls.md"], "Or [the program](../index.html#try-it), [a " \
        "file](#{source}/blob/main/lib/a.rb#L3),\n![chart](../docs/chart.svg)."
      assert_equal "<svg/>", pages["docs/chart.svg"]
    end
  end

  def test_code_stays
    written do |pages|
      assert_includes pages["guides/tls.md"], "values[:a](../../README.md)"
      assert_includes pages["guides/tls.md"], "`b[0](c.md)` and {{ liquid }}"
      refute front(pages["guides/tls.md"])["render_with_liquid"]
    end
  end

  def test_a_link_that_names_nothing
    error = assert_raises(Site::Documents::DeadLink) { written("docs/guides/tls.md" => "[gone](gone.md)") { flunk } }

    assert_equal "docs/guides/tls.md links to docs/guides/gone.md, which is not there", error.message
  end

  def test_the_index_has_each_document_and_no_other
    paths = Site::Documents.new(ROOT).entries.map(&:path)
    documents = Dir["docs/**/*.md", base: ROOT] - [Site::Documents::INDEX]

    assert_empty documents - paths, "put these into #{Site::Documents::INDEX}"
    assert_empty paths.reject { |path| File.exist?(File.join(ROOT, path)) },
      "#{Site::Documents::INDEX} names what is not there"
    assert_equal paths.uniq, paths
  end

  private

  # Yields what is written for a small repository, by path.
  def written(files = {})
    files = {"docs/README.md" => INDEX, "README.md" => "# Pelton", "docs/guides/tls.md" => TLS,
             "docs/chart.svg" => "<svg/>", "lib/a.rb" => ""}.merge(files)
    Dir.mktmpdir do |folder|
      files.each do |path, content|
        FileUtils.mkdir_p(File.dirname(path = File.join(folder, "repository", path)))
        File.write(path, content)
      end
      Site::Documents.new("#{folder}/repository").write("#{folder}/source")
      yield Dir["**/*.{md,svg}", base: "#{folder}/source"].to_h { |path| [path, File.read("#{folder}/source/#{path}")] }
    end
  end

  def front(text) = YAML.safe_load(text[/\A---\n(.*?)^---\n/m, 1])
end
