# frozen_string_literal: true

require "pelton/version"

module Pelton
  module Lab
    # The paths of Pelton's files, in gems or in a checkout, so that the lab's processes load the same files.
    module Installation
      pelton = File.expand_path("../..", Pelton.const_source_location(:VERSION).first)
      _, eventmachine = $LOAD_PATH.resolve_feature_path("pelton-eventmachine")
      others = %w[pelton/cable pelton/rails pelton/sequel pelton/web].filter_map do |feature|
        $LOAD_PATH.resolve_feature_path(feature)&.last
      end

      # The folders of the load path, as Ruby's option -I takes them.
      LIBRARIES = [File.expand_path("../..", __dir__), pelton, *(File.dirname(eventmachine) if eventmachine),
        *others.map { |path| File.expand_path("../..", path) }].join(File::PATH_SEPARATOR).freeze
      # The program `pelton`.
      COMMAND = File.expand_path("../exe/pelton", pelton)
    end
  end
end
