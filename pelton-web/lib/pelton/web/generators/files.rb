# frozen_string_literal: true

require "fileutils"
require "open3"
require "tempfile"

module Pelton
  module Web
    module Generators
      # Writes the files of an application, and says what it has done, as Rails' generators do. It asks before it changes a file that has
      # other contents.
      # @private
      class Files
        QUESTION = "Overwrite %s? y: yes, n: no, a: this and all others, d: show the difference, q: quit [Ynadq] "
        private_constant :QUESTION

        # The person at the terminal wants no more files.
        class Quit < Refused
          def initialize = super("stopped; the files listed above have been written")
        end

        # @return [String] the folder of the application
        attr_reader :root

        # @param conflict [Symbol] what happens to a file that is there with other contents: :ask, :force or :skip
        # @param input [IO] from which answers come; at its end nothing is overwritten
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
          overwrite?(path, text) ? put(:force, path, text) : say(:skip, path)
        end

        # Inserts a text into a file, unless it is there already.
        def insert(path, text, after:)
          file = File.join(@root, path)
          return say(:missing, "#{path}. Add this yourself:\n#{text.gsub(/^/, " " * 13)}") unless File.file?(file)
          whole = File.read(file, encoding: "UTF-8")
          return say(:identical, path) if whole.include?(text)
          place = whole.match(after)&.end(0)
          return say(:unchanged, "#{path}: found no place for this. Add it yourself:\n#{text.gsub(/^/, " " * 13)}") unless place
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

        def overwrite?(path, text)
          return @conflict == :force if @conflict != :ask
          say(:conflict, path)
          loop do
            @out.print(format(QUESTION, path))
            case @input.gets&.strip&.downcase
            when "", "y", "yes" then return true
            when "a" then return (@conflict = :force) && true
            when "d" then show_difference(path, text)
            when "q" then raise Quit
            when "n", "no", nil then return false
            end
          end
        end

        def show_difference(path, text)
          Tempfile.create("generated") do |new|
            new.write(text)
            new.close
            difference, = Open3.capture2e("diff", "-u", File.join(@root, path), new.path)
            @out.puts(difference)
          end
        rescue Errno::ENOENT
          @out.puts("there is no program diff on this machine", text)
        end
      end
    end
  end
end
