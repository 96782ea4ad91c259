# frozen_string_literal: true

require_relative "../http"
require_relative "../http/local_authority"

module Pelton
  module Command
    # `pelton certificate trust`: how browsers and programs come to trust what `pelton serve --tls` uses.
    module Certificate
      USAGE = <<~TEXT
        usage: pelton certificate trust

        Makes this machine's own authority for `pelton serve --tls`, unless it is there, and says how to trust it.
      TEXT
      HOW = <<~TEXT
        The authority's certificate is %<path>s. It can only vouch for localhost.

        curl, Ruby and others, on Debian:
          sudo cp %<path>s /usr/local/share/ca-certificates/pelton.crt && sudo update-ca-certificates
        Chromium and Chrome, on Linux (the package libnss3-tools):
          certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n pelton -i %<path>s
        macOS:
          security add-trusted-cert -r trustRoot -k ~/Library/Keychains/login.keychain-db %<path>s
        Firefox:
          Settings, Certificates, View Certificates, Authorities, Import
        One program:
          curl --cacert %<path>s https://localhost:9292/
      TEXT
      private_constant :USAGE, :HOW

      # @return [Integer] the exit status
      def self.run(arguments, out: $stdout, error: $stderr, authority: HTTP::LocalAuthority.default)
        return out.puts(USAGE) || 0 if (arguments & %w[-h --help]).any?
        return error.puts(USAGE) || 2 unless arguments == ["trust"]
        authority.prepare
        out.puts(format(HOW, path: authority.path))
        0
      rescue SystemCallError => problem
        error.puts("pelton certificate: #{problem.message}")
        1
      end
    end
  end
end
