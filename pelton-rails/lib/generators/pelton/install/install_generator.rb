# frozen_string_literal: true

require "rails/generators/base"

module Pelton
  module Generators
    # `bin/rails generate pelton:install`: the server's settings, a Procfile, a systemd unit, and a 504 page.
    class InstallGenerator < ::Rails::Generators::Base
      source_root File.expand_path("templates", __dir__)
      SERVE = "bundle exec pelton serve"
      # A server's command within a line, with its arguments.
      SERVER = %r{
        (?:bundle\ exec\ )?(?:(?:\./)?bin/)?
        (?:puma|rails\ (?:server|s)|rackup|thin\ start|unicorn(?:_rails)?|falcon\ (?:serve|host)|passenger\ start)\b
        [^&|;\n]*?(?=\s*(?:&&|\|\||[|;]|$))
      }x
      # What may start another server, and what to write there.
      STARTERS = {
        "Procfile.dev" => "web: #{SERVE}",
        "bin/dev" => "exec \"bundle\", \"exec\", \"pelton\", \"serve\" (or web: #{SERVE} in Procfile.dev)",
        "Dockerfile" => "CMD [\"bundle\", \"exec\", \"pelton\", \"serve\", \"-b\", \"tcp://0.0.0.0:3000\"]. " \
          "bin/docker-entrypoint prepares the database for \"./bin/rails server\" alone: have it do so for this command"
      }.freeze
      private_constant :SERVE, :SERVER, :STARTERS

      desc "Writes config/pelton.rb, a line for the server into the Procfile, config/pelton.service for systemd, and " \
        "public/504.html"

      def settings = template("pelton.rb.tt", "config/pelton.rb")

      # Keeps what its line does besides serving: variables, a migration before.
      def procfile
        text = read("Procfile") or return create_file("Procfile", "web: #{SERVE}\n")
        web = text[/^web:.*$/]
        return append_to_file("Procfile", "#{"\n" unless text.match?(/(?:\A|\n)\z/)}web: #{SERVE}\n") unless web
        replace_server(web) unless web.include?("pelton serve")
      end

      def unit = template("pelton.service.tt", "config/pelton.service")

      # Without a page for a status, Rails sends an empty body.
      def page_of_time_limit = copy_file("504.html", "public/504.html", skip: true)

      def database
        advise("config/database.yml: set pool to the queries that a process may send at once (25), whatever " \
          "RAILS_MAX_THREADS is")
      end

      # These are the application's own: only said.
      def other_starters
        STARTERS.each do |path, line|
          next unless read(path)&.match?(/\b(?:puma|rails["',\s]+s(?:erver)?|thrust)\b/)
          advise("#{path} still starts another server: write #{line}")
        end
      end

      private

      def replace_server(web)
        unless web.match?(SERVER)
          command = web.delete_prefix("web:").strip
          return advise("Procfile: its web: starts something unknown (#{command}): write #{SERVE} in the server's " \
            "place")
        end
        gsub_file("Procfile", /^web:.*$/) { |line| line.sub(SERVER, SERVE) }
        advise("Procfile: was #{web}")
      end

      def advise(text) = say_status(:advice, text, :yellow)

      def read(path)
        path = File.join(destination_root, path)
        File.read(path) if File.file?(path)
      end

      def name = (::Rails.application.class.module_parent_name || ::Rails.application.class.name).underscore
    end
  end
end
