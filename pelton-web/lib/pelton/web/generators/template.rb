# frozen_string_literal: true

require "erubi"

module Pelton
  module Web
    module Generators
      # The generators' templates in `templates/`: ERB with {% %} instead of <% %>, since they contain an application's
      # ERB templates.
      # @private
      module Template
        FOLDER = File.expand_path("templates", __dir__)
        TAG = /\{%(={1,2}|-|\#|%)?(.*?)([-=])?%\}([ \t]*\r?\n)?/m
        private_constant :TAG

        # @return [Array<String>] the paths of a set's files in an application
        def self.paths(set)
          Dir["**/*.tt", base: File.join(FOLDER, set)]
            .map { |path| path.delete_suffix(".tt").sub(/\Agitignore\z/, ".gitignore") }.sort
        end

        def self.render(path, context)
          file = File.join(FOLDER, "#{File.join(File.dirname(path), File.basename(path).delete_prefix("."))}.tt")
          context.instance_eval(Erubi::Engine.new(File.read(file, encoding: "UTF-8"), regexp: TAG).src, file)
        end
      end
    end
  end
end
