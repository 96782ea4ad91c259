# frozen_string_literal: true

# Gems that stand on EventMachine, for bin/test downstream: their own specs run on Pelton, which comes in by the gem of
# EventMachine's name in this repository.
source Gem.sources.to_a.first

gem "eventmachine", path: ".."

gem "em-http-request", "1.1.7"
gem "em-spec", "0.2.7"
gem "em-websocket", "0.5.3"
gem "em-websocket-client", "0.1.2"
gem "multi_json", "~> 1.15"
gem "rack", "~> 1.6"
gem "rspec", "~> 3.13"
gem "thin", "2.0.1"
gem "webrick", "~> 1.9"
