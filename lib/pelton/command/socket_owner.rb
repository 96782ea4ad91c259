# frozen_string_literal: true

require_relative "../address"

module Pelton
  module Command
    # Who listens at an address, as far as /proc tells it: other users' processes only to root.
    module SocketOwner
      LISTENS = "0A" # of /proc/net/tcp
      ACCEPTS = 0x10000 # a flag of /proc/net/unix
      private_constant :LISTENS, :ACCEPTS

      class << self
        # @param address [String]
        # @return [String, nil] such as "process 17 (nginx)": the first of several that share the socket
        def of(address)
          wanted = inodes(Address.new(address)).to_h { |inode| ["socket:[#{inode}]", true] }
          pid = Dir["/proc/[0-9]*/fd/*"].filter_map { |path| path[%r{\d+}].to_i if wanted.key?(target(path)) }.min
          "process #{pid} (#{File.read("/proc/#{pid}/comm").chomp})" if pid
        rescue SystemCallError
          nil
        end

        private

        # The descriptor may be closed, or another user's.
        def target(path)
          File.readlink(path)
        rescue SystemCallError
          nil
        end

        def inodes(address)
          if address.path
            return table("unix").filter_map { |row| row[6] if row[7] == address.path && row[3].hex & ACCEPTS != 0 }
          end
          %w[tcp tcp6].flat_map { |name| table(name) }.filter_map do |row|
            row[9] if row[3] == LISTENS && row[1][/\h+\z/].hex == address.port
          end
        end

        def table(name)
          path = "/proc/net/#{name}"
          File.exist?(path) ? File.readlines(path).drop(1).map(&:split) : []
        end
      end
    end
  end
end
