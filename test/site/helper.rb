# frozen_string_literal: true

require_relative "../test_helper"
require "fileutils"
require "tmpdir"

# Tests of the documentation site's generator, on small repositories.
class SiteTest < PeltonTest
  # The gems of the group docs are optional: bin/test installs them. Their warnings do not concern these tests.
  GEMS = %w[kramdown kramdown-parser-gfm rouge yard].freeze

  verbose, $VERBOSE = $VERBOSE, nil
  begin
    GEMS.each { |gem| require gem }
  rescue LoadError
    nil # tests that need these gems are skipped
  ensure
    $VERBOSE = verbose
  end

  # @param files [Array<String>] of the generator, which the tests of this class are about
  def self.needs(*files)
    files.each { |file| require_relative "../../docs/site/#{file}" }
  rescue LoadError => error
    define_method(:before_setup) { super().then { skip "#{error.message}: run by BUNDLE_WITH=docs" } }
  end

  # A repository of these files.
  #
  # @param files [Hash{String => String}] contents by path
  # @yieldparam root [String]
  def repository(files)
    Dir.mktmpdir do |root|
      files.each do |path, content|
        FileUtils.mkdir_p(File.dirname(path = File.join(root, path)))
        File.write(path, content)
      end
      yield root
    end
  end
end
