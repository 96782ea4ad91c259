# frozen_string_literal: true

module Pelton
  module Lab
    # The programs of the system that the lab can use.
    module Programs
      # Where administrators' programs are (nginx) counts as well.
      # @return [String, nil] the path of a program, nil where it is not installed
      def self.find(name)
        [*ENV["PATH"].to_s.split(File::PATH_SEPARATOR), "/usr/sbin"].map { |folder| File.join(folder, name) }.find do |path|
          File.file?(path) && File.executable?(path)
        end
      end

      # @return [String, nil] what a program says of its version, nil where it is not installed or does not say
      def self.version(name)
        path = find(name) or return
        (@versions ||= {})[name] ||= %w[--version -v -V].lazy.filter_map do |option|
          IO.popen([path, option, err: %i[child out]], &:gets).to_s.scrub[/\d[\w.]*/]
        end.first
      rescue SystemCallError
        nil
      end
    end
  end
end
