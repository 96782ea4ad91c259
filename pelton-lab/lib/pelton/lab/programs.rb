# frozen_string_literal: true

require "socket"

module Pelton
  module Lab
    # The programs of the system that the lab uses: their paths, versions and output.
    module Programs
      # Looks in the folder of administrators' programs (nginx) as well.
      # @return [String, nil] the path of a program, nil where it is not installed
      def self.find(name)
        [*ENV["PATH"].to_s.split(File::PATH_SEPARATOR), "/usr/sbin"]
          .map { |folder| File.join(folder, name) }.find do |path|
          File.file?(path) && File.executable?(path)
        end
      end

      # @return [String, nil] the version that a program prints; nil where it is not installed or prints none
      def self.version(name)
        path = find(name) or return
        (@versions ||= {})[name] ||= %w[--version -v -V].lazy.filter_map do |option|
          # Not that of h2load, or nghttp2
          IO.popen([path, option, err: %i[child out]], &:gets).to_s.scrub[/(?<![a-uw-z])\d[\w.]*/i]
        end.first
      rescue SystemCallError
        nil
      end

      # The words to put before a command so that it ends with the lab, even where the lab is killed.
      # @param user [String, nil] the user it runs as, where the lab itself is root
      # @return [Array<String>]
      def self.tied(user: nil)
        return [] unless find("setpriv")
        ["setpriv", "--pdeathsig", "KILL", *("--reuid=#{user} --clear-groups".split if user && Process.uid.zero?)]
      end

      # @return [Integer] a port of 127.0.0.1 for a program that is about to start: none that the system gives to
      #   others, which begin at 32768
      def self.free_port
        port = Random.rand(10_000...32_768)
        TCPServer.open("127.0.0.1", port).close
        port
      rescue Errno::EADDRINUSE
        retry
      end

      # @param log [String] the path of a program's output
      # @return [String, nil] the last line that is not empty
      def self.last_words(log)
        File.read(log).scrub.lines.map(&:strip).reject(&:empty?).last
      end
    end
  end
end
