# frozen_string_literal: true

require "rails/generators/base"

module Pelton
  module Generators
    # `bin/rails generate pelton:install`: the server's settings, a Procfile, a systemd unit, and a 504 page.
    class InstallGenerator < ::Rails::Generators::Base
      source_root File.expand_path("templates", __dir__)
      desc "Writes config/pelton.rb, a line for the server into the Procfile, config/pelton.service for systemd, and public/504.html"

      def settings = template("pelton.rb.tt", "config/pelton.rb")

      def procfile
        line = "web: bundle exec pelton serve\n"
        return create_file("Procfile", line) unless File.exist?(File.join(destination_root, "Procfile"))
        gsub_file("Procfile", /^web: .*\n?/, line)
      end

      def unit = template("pelton.service.tt", "config/pelton.service")

      # Without a page for a status, Rails sends an empty body.
      def page_of_time_limit = copy_file("504.html", "public/504.html", skip: true)

      def database
        say_status :advice, "config/database.yml: set pool to the queries that a process may send at once (25), whatever RAILS_MAX_THREADS is", :yellow
      end

      private

      def name = (::Rails.application.class.module_parent_name || ::Rails.application.class.name).underscore
    end
  end
end
