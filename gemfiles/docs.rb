# frozen_string_literal: true

# The documentation site, for `rake docs`. Its gems lie in a folder of their own (tmp/docs_gems).
source Gem.sources.to_a.first

gem "html-proofer", "~> 4.4"
gem "jekyll", "~> 4.3"
gem "jekyll-sass-converter", "~> 2.2" # version 3 downloads a compiler when it is installed
gem "just-the-docs", "~> 0.10"
gem "minitest", "~> 5.25"
gem "nokogiri", "~> 1.16.0" # needs no compiler
gem "sassc", "2.1.0" # the last one that comes compiled: 2.4 takes two minutes
gem "yard", "~> 0.9.36"
