# frozen_string_literal: true

require "test_helper"
require_relative "../../../test/support/temporary_folder"
require "pelton/web"
require "pelton/web/views/templates"

# For tests: templates in a folder of the test's own.
module TemplateFiles
  include TemporaryFolder

  # @param texts [Hash{String => String}] by path
  def write(texts)
    texts.each do |path, text|
      file = File.join(@folder, path)
      FileUtils.mkdir_p(File.dirname(file))
      File.write(file, text)
    end
  end

  # @return [Pelton::Web::Templates]
  def templates(texts, helpers: [])
    write(texts)
    Pelton::Web::Templates.new(@folder, helpers: helpers)
  end

  # @return [String] the text of one template
  def rendered(text, assigns = {})
    templates({"page.html.erb" => text}).render("page", assigns: assigns)
  end
end
