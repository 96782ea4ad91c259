# frozen_string_literal: true

module Pelton
  module Lab
    # The programs of the system that the lab can use.
    module Programs
      # @return [String, nil] the path of a program, nil where it is not installed
      def self.find(name)
        ENV["PATH"].to_s.split(File::PATH_SEPARATOR).map { |folder| File.join(folder, name) }.find do |path|
          File.file?(path) && File.executable?(path)
        end
      end

      # @return [String, nil] what a program says of its version, nil where it is not installed or does not say
      def self.version(name)
        (@versions ||= {})[name] ||= (IO.popen([name, "--version"], err: File::NULL, &:read)[/\d[\w.]*/] if find(name))
      rescue SystemCallError
        nil
      end
    end
  end
end
