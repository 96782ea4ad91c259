# frozen_string_literal: true

require_relative "helpers/tags"
require_relative "helpers/text"
require_relative "helpers/numbers"
require_relative "helpers/dates"
require_relative "helpers/links"
require_relative "helpers/options"
require_relative "helpers/forms"
require_relative "helpers/pages"
require_relative "helpers/resumable_streams"

module Pelton
  module Web
    # The methods of templates, besides the program's own helpers. Names and options are Rails'.
    module Helpers
      include Tags
      include Text
      include Numbers
      include Dates
      include Links
      include Options
      include Forms
      include Pages
      include ResumableStreams
    end
  end
end
