# frozen_string_literal: true

require "zeitwerk"
require_relative "settings"
require_relative "views/templates"

module Pelton
  module Web
    class Settings
      # @!attribute eager_load
      #   @return [Boolean] whether to load all code and compile all templates at boot; by default in production
      setting(:eager_load, ->(settings) { settings.environment == "production" }) do |value|
        "must be true or false" unless [true, false].include?(value)
      end
    end

    # Loads an application's code: the folders in `app/` by Zeitwerk (`app/models/post.rb` defines Post), then
    # `config/routes.rb`, then templates, with the helpers in `app/helpers`. Missing ones are skipped.
    #
    # @private
    class Loading
      # Folders in `app/` that contain no code.
      OTHERS = %w[assets javascript views].freeze

      def initialize(application)
        @application = application
        @settings = application.settings
        @root = File.expand_path(@settings.root)
      end

      # @raise any error of the program's files
      def load
        @stamps = stamps
        loader.setup
        load_routes
        @settings.templates ||= new_templates
        @settings.static ||= Static.of(@settings)
        eager_load if @settings.eager_load
        self
      end

      # @return [Boolean] whether a file has changed since loading
      def changed? = stamps != @stamps || @settings.templates&.changed? || false

      # Reloads everything. If that raises, the files still count as changed.
      def reload
        before, @stamps = stamps, nil
        loader.reload
        load_routes
        @settings.templates&.reload(helpers: helpers)
        @stamps = before
        self
      end

      private

      def loader
        @loader ||= Zeitwerk::Loader.new.tap do |loader|
          folders.each { |folder| loader.push_dir(folder) }
          loader.enable_reloading if @settings.development?
        end
      end

      def folders
        Dir[File.join(@root, "app/*/")].map { |folder| folder.chomp("/") }
          .reject { |folder| OTHERS.include?(File.basename(folder)) }.sort
      end

      def load_routes
        file = File.join(@root, "config/routes.rb")
        @application._draw_routes(file) if File.file?(file)
      end

      def new_templates
        views = @settings.views.select { |folder| File.directory?(folder) }
        Templates.new(*views, helpers: helpers) if views.any?
      end

      def helpers
        files = Dir[File.join(@root, "app/helpers/**/*.rb")].sort
        [@application.urls, *@settings.helpers, *files.map { |file| Object.const_get(loader.cpath_expected_at(file)) }]
      end

      def eager_load
        loader.eager_load
        @settings.templates&.compile
      end

      # Each file and its time of change.
      def stamps
        files = folders.flat_map { |folder| Dir[File.join(folder, "**/*.rb")] }.sort << File.join(@root,
          "config/routes.rb")
        files.select { |file| File.file?(file) }.to_h { |file| [file, File.mtime(file)] }
      end
    end
  end
end
