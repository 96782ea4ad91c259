# frozen_string_literal: true

require "ipaddr"
require_relative "views/templates"

module Pelton
  module Web
    # Pages for developers on the machine where the application runs: {ErrorPage} and {SlowPage}.
    # @private
    module Development
      FOLDER = File.expand_path("development", __dir__)
      LOOPBACK = [IPAddr.new("127.0.0.0/8"), IPAddr.new("::1")].freeze
      # Pages without scripts and with inline styles.
      HEADERS = {"content-type" => "text/html; charset=utf-8", "cache-control" => "no-store",
                 "content-security-policy" => "default-src 'none'; style-src 'unsafe-inline'",
                 "x-content-type-options" => "nosniff"}.freeze
      private_constant :FOLDER, :LOOPBACK, :HEADERS

      class << self
        # Whether the request comes from this machine and was meant for it: another site's name may resolve to
        # 127.0.0.1.
        def local?(env) = loopback?(env["REMOTE_ADDR"].to_s) && here?(env["HTTP_HOST"].to_s)

        # @return [Array] Rack's response
        def page(name, status, assigns)
          @templates ||= Templates.new(FOLDER)
          body = @templates.render(name, assigns: assigns, layout: "layout").to_str
          [status, HEADERS.merge("content-length" => body.bytesize.to_s), [body]]
        end

        private

        def loopback?(address)
          ip = IPAddr.new(address)
          LOOPBACK.any? { |network| network.include?(ip) }
        rescue IPAddr::Error
          false
        end

        def here?(host)
          name = host.sub(/:\d+\z/, "").delete_prefix("[").delete_suffix("]").downcase
          name == "localhost" || name.end_with?(".localhost") || loopback?(name)
        end
      end
    end
  end
end
