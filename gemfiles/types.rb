# frozen_string_literal: true

# Steep, for `rake types:readme`. Its gems lie in a folder of their own (tmp/types_gems).
source Gem.sources.to_a.first

# The last for Ruby 3.1, on later ones as well: other versions have other messages, which
# test/repository/unchecked_signatures.yml names.
gem "steep", "~> 1.10.0"
