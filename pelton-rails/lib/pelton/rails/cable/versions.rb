# frozen_string_literal: true

module Pelton
  module Rails
    class Cable
      # The versions of Action Cable whose classes {ActionCable} knows.
      VERSIONS = Gem::Requirement.new(">= 7.0", "< 8.2")

      class << self
        # @return [Boolean] 8.2.0.alpha is less than 8.2, but has its classes
        def supported? = VERSIONS.satisfied_by?(::ActionCable.gem_version.release)

        # Says at boot that Rails' own server stays.
        #
        # @return [nil]
        def warn_of_version
          return if supported?
          Pelton.logger.warn("Rails: Action Cable #{::ActionCable.gem_version} is newer than this version of " \
            "pelton-rails knows (#{VERSIONS}): Rails' own server, in threads, serves its sockets. Update " \
            "pelton-rails, or silence this by config.pelton.cable = false")
          nil
        end
      end
    end
  end
end
