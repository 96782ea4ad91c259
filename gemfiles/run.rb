# frozen_string_literal: true

# The gems that bin/pelton needs: what Pelton and pelton-web depend on, and nothing that tests need.
source Gem.sources.to_a.first

gem "pelton", path: ".."
gem "pelton-web", path: "../pelton-web"
