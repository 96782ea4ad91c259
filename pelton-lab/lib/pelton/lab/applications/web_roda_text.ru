# frozen_string_literal: true

# A constant text on Roda.
require "roda"

class Text < Roda
  route { |r| r.root { "Hello World!" } }
end

run Text.freeze.app
