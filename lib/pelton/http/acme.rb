# frozen_string_literal: true

require_relative "acme/challenges"
require_relative "acme/folder"
require_relative "acme/order"
require_relative "acme/renewal"
require_relative "acme/tls_challenges"

module Pelton
  module HTTP
    # Certificates from an authority that speaks ACME (RFC 8555), such as Let's Encrypt: `acme "example.com"`. All
    # processes of a server share a {Folder}; one of them renews what is in it ({Renewal}), by an {Order}; each answers
    # the authority's questions, by HTTP ({Challenges}) or TLS ({TLSChallenges}).
    # @private
    module Acme
    end
  end
end
