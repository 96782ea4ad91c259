# frozen_string_literal: true

require "fileutils"

module Pelton
  module Web
    module Generators
      # Writes an application's files, and reports them as Rails' generators do. Asks before it changes an existing
      # file.
      # @private
      class Files
        QUESTION = "Overwrite %s? y: yes, n: no, a: this and all others [Yna] "
        private_constant :QUESTION

        # @return [String] the folder of the application
        attr_reader :root

        # @param conflict [Symbol] what to do with an existing file that differs: :ask, :force or :skip
        # @param input [IO] for answers; at its end nothing is overwritten
        def initialize(root, conflict: :ask, pretend: false, quiet: false, input: $stdin, out: $stdout)
          @root = root
          @conflict = conflict
          @pretend = pretend
          @quiet = quiet
          @input = input
          @out = out
        end

        def write(path, text)
          file = File.join(@root, path)
          return put(:create, path, text) unless File.exist?(file) || File.symlink?(file)
          return say(:identical, path) if File.file?(file) && File.read(file, encoding: "UTF-8") == text
          raise Refused, "#{path} is there, and no file" unless File.file?(file)
          overwrite?(path) ? put(:force, path, text) : say(:skip, path)
        end

        # Inserts text into a file, unless it is there already.
        def insert(path, text, after:)
          file = File.join(@root, path)
          return say(:missing, "#{path}. Add this yourself:\n#{text.gsub(/^/, " " * 13)}") unless File.file?(file)
          whole = File.read(file, encoding: "UTF-8")
          return say(:identical, path) if whole.include?(text)
          place = whole.match(after)&.end(0)
          unless place
            return say(:unchanged, "#{path}: found no place for this. Add it yourself:\n#{text.gsub(/^/, " " * 13)}")
          end
          put(:insert, path, whole.insert(place, text))
        end

        # @return [String, nil] the contents of a file
        def read(path) = File.file?(File.join(@root, path)) ? File.read(File.join(@root, path), encoding: "UTF-8") : nil

        private

        def put(verb, path, text)
          say(verb, path)
          return if @pretend
          file = File.join(@root, path)
          FileUtils.mkdir_p(File.dirname(file))
          File.write(file, text)
        end

        def say(verb, path)
          @out.puts("#{verb.to_s.rjust(12)}  #{path}") unless @quiet
        end

        def overwrite?(path)
          return @conflict == :force if @conflict != :ask
          say(:conflict, path)
          loop do
            @out.print(format(QUESTION, path))
            case @input.gets&.strip&.downcase
            when "", "y", "yes" then return true
            when "a" then return (@conflict = :force) && true
            when "n", "no", nil then return false
            end
          end
        end
      end
    end
  end
end
