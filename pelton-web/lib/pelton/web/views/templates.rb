# frozen_string_literal: true

require "did_you_mean"
require "digest"
require_relative "../error"
require_relative "../settings"
require_relative "view"
require_relative "templates/template"

module Pelton
  module Web
    # Raised if no template has the name and format. The message lists where it was searched.
    class MissingTemplate < ConfigurationError
    end

    class Settings
      # @!attribute views
      #   @return [Array<String>] folders with templates; by default `app/views` in the root. Missing ones are skipped
      setting(:views, ->(settings) { [File.join(settings.root, "app/views")] }) do |value|
        "must be an Array of paths" unless value.is_a?(Array)
      end

      # @!attribute helpers
      #   @return [Array<Module>] modules of template methods, besides those in `app/helpers`
      setting(:helpers, []) { |value| "must be an Array of modules" unless value.is_a?(Array) && value.all?(Module) }

      # @!attribute templates
      #   @return [Templates, nil] created at boot; nil if there is no folder with templates
      setting(:templates)
    end

    # An application's templates, by name and format.
    #
    # `posts/show.html.erb` is the template "posts/show" in the format "html", and so is `posts/show.erb`. The last part
    # names the engine: ERB (by erubi), or another that tilt supports and whose gem is installed. The folders are listed
    # once, so a name from a request finds a template or nothing; it is never used as a path.
    #
    #     templates = Pelton::Web::Templates.new("app/views")
    #     templates.render("posts/show", assigns: {post: post}, layout: "layouts/application")
    class Templates
      attr_reader :folders

      # @return [String] changes with any template's text, so that output can be cached
      attr_reader :digest

      # @return [Class] the subclass of {View} that renders them
      attr_reader :view_class

      # @param folders [Array<String>] the first one with a template wins
      # @param helpers [Array<Module>] modules of template methods
      # @raise [ConfigurationError] if a folder is missing
      def initialize(*folders, helpers: [])
        @folders = folders.map { |folder| File.expand_path(folder) }
        missing = @folders.reject { |folder| File.directory?(folder) }
        raise ConfigurationError, "there is no folder #{missing.first} for templates" if missing.any?
        reload(helpers: helpers)
      end

      # @raise [MissingTemplate]
      def find(name, format = "html")
        raise ArgumentError, "the name of a template is a String, not #{name.class}" unless name.is_a?(String)
        @table[format]&.[](name) || missing([name], format)
      end

      def exist?(name, format = "html") = @table[format]&.key?(name) || false

      # @return [Array<String>] the formats of a template
      def formats(name) = @table.filter_map { |format, templates| format if templates.key?(name) }

      # Renders a template without a controller, for mails and tests.
      #
      # @param locals [Hash{Symbol => Object}]
      # @param assigns [Hash{Symbol => Object}] become instance variables of the template
      # @param layout [String, nil]
      # @raise [MissingTemplate]
      # @asynchronous if the template waits
      def render(name, format: "html", locals: {}, assigns: {}, layout: nil)
        view = view_class.new(nil, format: format, prefix: File.dirname(name))
        assigns.each { |key, value| view.instance_variable_set(:"@#{key}", value) }
        view._text(view._page(find(name, format), layout && find(layout, format), locals))
      end

      # Compiles all templates, so that syntax errors show at boot, and no request waits for it.
      #
      # @raise [SyntaxError] if a template has one
      def compile
        @table.each_value { |templates| templates.each_value(&:compile) }
        self
      end

      # @return [Boolean] whether a file has changed since loading
      def changed? = stamps != @stamps

      # Lists the folders again. Pages being rendered meanwhile fail: {Reloading} waits for them.
      def reload(helpers: @helpers)
        @helpers = helpers
        read
        self
      end

      # @param prefix [String, nil] the folder for a name without one, searched before "application"
      def _partial(name, prefix, format)
        known = ((@partials[format] ||= {})[prefix] ||= {})
        known[name] || begin
          raise ArgumentError, "the name of a partial is a String, not #{name.class}" unless name.is_a?(String)
          folder, base = File.split(name)
          places = name.include?("/") ? ["#{folder}/_#{base}"] : ["#{prefix}/_#{base}", "application/_#{base}",
            "_#{base}"]
          found = places.find { |place| exist?(place, format) } or missing(places, format)
          known[name] = find(found, format)
        end
      end

      private

      def read
        @stamps = stamps
        @view_class = Class.new(View)
        @helpers.each { |helper| @view_class.include(helper) }
        @view_class._templates = self
        @table = {}
        @partials = {}
        @stamps.each_key { |file| add(file) }
        @digest =
          Digest::SHA256.hexdigest(
            @stamps.keys.map { |file| "#{file}\0#{File.size(file)}\0#{File.binread(file)}" }.join
          )[0, 16]
      end

      def add(file)
        folder = folders.find { |one| file.start_with?("#{one}/") }
        path, base = File.split(file.delete_prefix("#{folder}/"))
        stem, *format, engine = base.split(".")
        return unless stem && engine && format.size < 2 && Tilt.registered?(engine)
        name = (path == ".") ? stem : "#{path}/#{stem}"
        format = format.first || "html"
        (@table[format] ||= {})[name] ||= Template.new(name, format, file, @view_class)
      end

      # Each file and its time of change.
      def stamps
        folders.flat_map { |folder| Dir[File.join(folder, "**/*")].sort }.select { |file| File.file?(file) }
          .to_h { |file| [file, File.mtime(file)] }
      end

      def missing(names, format)
        names = names.map { |name| name[0, 200].scrub("?").delete("\0") }
        near = DidYouMean::SpellChecker.new(dictionary: @table.fetch(format, {}).keys).correct(names.first)
        others = formats(names.first)
        hint = if others.any? then "; it is there for #{others.join(", ")}"
        elsif near.any? then "; there is #{near.first(3).join(", ")}"
        end
        places = folders.product(names).map { |folder, name| File.join(folder, "#{name}.#{format}.erb") }
        raise MissingTemplate, "there is no template #{names.first.inspect} for #{format}: looked for " \
          "#{places.join(", ")} and other engines' files#{hint}"
      end
    end
  end
end
