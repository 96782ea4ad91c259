# frozen_string_literal: true

# usage: ruby docs/site/build.rb [FOLDER]: makes the site there (tmp/docs), and says which links are dead
require "html-proofer"
require "jekyll"
require_relative "api"
require_relative "documents"

root = File.expand_path("../..", __dir__)
site = File.expand_path(ARGV[0] || "tmp/docs")
source = "#{site}-source"

api = Site::Api.new(root)
api.write("#{site}/api", "#{source}-api")
abort "YARD has warned of docstrings: see above" if YARD::Logger.instance.warned
abort "public without a docstring: #{api.undocumented.join(", ")}" if api.undocumented.any?

documents = Site::Documents.new(root)
documents.write(source)
front = {
  "title" => "API",
  "parent" => "Reference",
  "nav_order" => -1,
  "permalink" => "/reference/api.html",
  "render_with_liquid" => false
}
File.write("#{source}/reference/api.md", "#{front.to_yaml}---\n# API\n\n#{api.index}")
Jekyll::Commands::Build.process("source" => source, "destination" => site,
  "config" => File.join(__dir__, "_config.yml"), "quiet" => true)
HTMLProofer.check_directory(site,
  disable_external: true, checks: %w[Links Images Scripts], ignore_files: [%r{/api/}], log_level: :error).run
puts "#{documents.entries.size} documents and the API: #{site}"
