# frozen_string_literal: true

require_relative "helper"

class SiteIndexTest < SiteTest
  needs "index"

  TEXT = <<~MARKDOWN
    # All documents

    ## Start here

    - [Pelton](../README.md): what it is,
      in two lines
    - without a link

    ## Internals

    - [Architecture](architecture.md): the rooms

    ### Decisions

    - [001](adr/001-first.md): the first; from [a template](adr/000-template.md)
  MARKDOWN

  def test_groups_have_entries_and_groups
    start, internals = Site::Index.new(TEXT).groups

    assert_equal [["Pelton", "README.md", "what it is, in two lines"]], start.entries.map(&:to_a)
    assert_equal ["docs/architecture.md"], internals.entries.map(&:path)
    assert_equal [["Decisions", ["docs/adr/001-first.md"]]], internals.groups.map { |group| [group.title, group.entries.map(&:path)] }
  end

  def test_entries_are_in_the_order_of_the_text
    index = Site::Index.new(TEXT)

    assert_equal %w[README.md docs/architecture.md docs/adr/001-first.md], index.entries.map(&:path)
    assert_equal "Internals", index.group_of("docs/adr/001-first.md").title
    assert_nil index.group_of("docs/adr/000-template.md")
  end

  def test_an_entry_belongs_to_a_group
    assert_raises(ArgumentError) { Site::Index.new("- [a](b.md)") }
  end

  def test_the_index_has_each_document_and_no_other
    paths = Site::Index.new(File.read(File.join(ROOT, Site::Index::PATH))).entries.map(&:path)
    documents = Dir["docs/**/*.md", base: ROOT] - [Site::Index::PATH]

    assert_empty documents - paths, "put these into #{Site::Index::PATH}"
    assert_empty paths.reject { |path| File.exist?(File.join(ROOT, path)) }, "#{Site::Index::PATH} names what is not there"
    assert_equal paths.uniq, paths
  end

  def test_the_index_has_four_groups
    assert_equal ["Start here", "Guides", "Reference", "Internals"], Site::Index.new(File.read(File.join(ROOT, Site::Index::PATH))).groups.map(&:title)
  end
end
